import type { Operation } from "../../core/call.ts";
import type { FnEntry } from "./entry.ts";

/**
 * Functions whose binding this deployment lacks (SPEC §5). Their operation and their gate are known
 * all the same, so a row made today keeps its fingerprint when the binding comes.
 */
export const notConfiguredFunctions: readonly FnEntry[] = [
  needs("QUEUE", "queue_send", "write", "Queues a call."),
  needs("WORKFLOW", "workflow_start", "write", "Starts a flow as a workflow."),
  needs("WORKFLOW", "workflow_status", "read", "Status and output of a workflow."),
  needs("AI", "ai_run", "write", "Runs a model."),
  needs("VECTORIZE", "vector_upsert", "write", "Stores a text's vector."),
  needs("VECTORIZE", "vector_query", "read", "The ids of the nearest texts."),
  { ...needs("EMAIL", "email_send", "write", "Sends an e-mail."), ownerOnly: true },
  needs("AGENT", "agent_schedule", "write", "Schedules a turn of an agent."),
  needs("AGENT", "agent_cancel", "write", "Cancels a schedule of an agent."),
  needs("AGENT", "agent_memory", "read", "Searches the memory of an agent."),
  needs("AGENT", "adjudicate", "write", "Puts a question to several agents."),
  needs("AGENT", "examine", "write", "Has an agent examine an object."),
  needs("LOADER", "run_code", "write", "Runs a script that calls rows."),
];

function needs(binding: string, name: string, operation: Operation, summary: string): FnEntry {
  const call = (): Promise<string> => Promise.resolve(`ERR:fn:not_configured:${binding}`);
  return { name, summary, operation, ownerOnly: false, call };
}
