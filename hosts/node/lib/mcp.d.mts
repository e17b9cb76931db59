import type { Session } from "./index.d.mts";

/**
 * Returns the client itself: from now on `callTool` runs through the hooks of a session. With the
 * name of the server, hooks know its tools as `mcp__server__tool`.
 */
export function guardClient<CLIENT extends { callTool: (...args: any[]) => Promise<any> }>(
  client: CLIENT,
  session: Session,
  options?: { server?: string | null },
): CLIENT;
