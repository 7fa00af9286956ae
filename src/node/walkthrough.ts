/** What `npm start` prints: where it serves, the owner's key, and the first calls, ready to paste. */
export function walkthrough(origin: string, ownerKey: string): string {
  return `
rowcall    ${origin}
owner key  ${ownerKey}

  export ROWCALL=${origin} OWNER_KEY=${shellQuote(ownerKey)}

  # 1 resolve: which row answers these words?
  curl -s "$ROWCALL/api/dispatch?ask=what+time+is+it"
  # 2 contract: how is it called?
  curl -s "$ROWCALL/api/dispatch?key=NOW&format=markdown"
  # 3 invoke
  curl -s "$ROWCALL/api/dispatch" -H "x-terminal-key: $OWNER_KEY" -H 'content-type: application/json' -d '{"key":"NOW","body":"Europe/Berlin"}' | tee answer.json
  # 4 confirm the receipt; no key needed
  curl -s "$ROWCALL/api/dispatch?confirm=$(sed -E 's/.*"invocation":\\{"id":"([^"]+)".*/\\1/' answer.json)"

  # a row of your own
  curl -s "$ROWCALL/api/directory" -H "x-terminal-key: $OWNER_KEY" -H 'content-type: application/json' -d '{"key":"GREET","type":"fn","target":"echo","content":"# WHAT: Greets someone by name.\\n# ARGS: name\\n# EX: [GREET]Ada[/GREET]\\n[\\"Hello, $1\\"]"}'
  curl -s "$ROWCALL/api/dispatch" -H "x-terminal-key: $OWNER_KEY" -H 'content-type: application/json' -d '{"key":"GREET","body":"Ada"}'

  # check the whole ledger without trusting the server
  curl -s "$ROWCALL/api/ledger/export" -H "x-terminal-key: $OWNER_KEY" > ledger.jsonl && npm run verify -- ledger.jsonl
`;
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", () => `'\\''`)}'`;
}
