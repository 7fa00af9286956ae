/** A parsed auth column: how to apply a credential and the NAMEs of the secrets, never a value. */
export type Auth =
  | { form: "bearer"; name: string }
  | { form: "basic"; name: string }
  /** Header templates in which `$NAME` stands for a secret's value. */
  | { form: "headers"; headers: [string, string][] }
  | { form: "query"; parameter: string; name: string };
