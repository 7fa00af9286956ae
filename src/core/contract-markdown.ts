import type { Contract } from "./contract.ts";

/**
 * The contract as a document (SPEC §6): twelve headings in a fixed order. Words of the row are text in it,
 * whatever they contain: they can open no heading, no list, no fence and no HTML element.
 */
export function contractMarkdown(contract: Contract): string {
  const { affordances, links, troubleshooting } = contract;
  const blocks = [
    `# ${plain(contract.path)}`,
    section("Capability", plain(contract.what) || "The row does not say."),
    section("When to use", plain(contract.when_to_use) || "The row does not say."),
    section(
      "Run now",
      fenced(contract.run_now),
      "Headers: `content-type: application/json` and your credential.",
    ),
    section("Example", fenced(contract.example)),
    section(
      "Kind",
      plain(`${contract.type} · ${contract.runner} · ${contract.auth} · ${contract.risk}`),
    ),
    section("Inputs", list(contract.inputs.map(plain)), schemaBlock(contract)),
    section("Outputs", plain(contract.outputs)),
    section("Affordances", list(affordances.map(({ move, send }) => `${move}: ${code(send)}`))),
    section(
      "Machine contract",
      list([...contract.machine_contract, `Fingerprint: ${contract.contract}`]),
    ),
    section(
      "After the call",
      list(Object.entries(links).map(([name, address]) => `${name}: ${code(address)}`)),
    ),
    section(
      "Troubleshooting",
      list(
        troubleshooting.map(
          ({ problem, action, address }) => `${problem}: ${action} (${code(address)})`,
        ),
      ),
    ),
  ];
  return `${blocks.join("\n\n")}\n`;
}

function section(heading: string, ...parts: string[]): string {
  return `## ${heading}\n${parts.filter(Boolean).join("\n")}`;
}

function list(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

/** Compact, and without a backtick that could end the fence. */
function schemaBlock({ input_schema: schema }: Contract): string {
  if (schema === null) return "";
  const text = typeof schema === "string" ? schema : JSON.stringify(schema);
  return fenced(text, "json");
}

/** One line; what would begin a block at its start, or an element anywhere, is escaped. */
function plain(text: string): string {
  return text
    .replace(/\s+/g, " ")
    .trim()
    .replace(/</g, "&lt;")
    .replace(/^(?=[#>~=+*_-]|`{3})/, "\\")
    .replace(/^(\d{1,9})([.)])/, (_, number: string, mark: string) => `${number}\\${mark}`);
}

function code(text: string): string {
  const ticks = "`".repeat(longestRun(text) + 1);
  return `${ticks}${text}${ticks}`;
}

/** A fence is longer than any run of backticks inside it. */
function fenced(text: string, language = ""): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${language}\n${text}\n${fence}`;
}

function longestRun(text: string): number {
  return (text.match(/`+/g) ?? []).reduce((most, run) => Math.max(most, run.length), 0);
}
