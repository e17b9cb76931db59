import type { Session } from "./index.d.mts";

/**
 * Returns tools whose calls run through the hooks of a session. What the model must not read as a
 * response is thrown: a denial, a failure. Throws for tools without `execute`.
 */
export function guardTools<TOOLS extends Record<string, any>>(session: Session, tools: TOOLS): TOOLS;

/** A condition for `stopWhen`: a hook ended the turn or the session. */
export function isStopped(session: Session): () => boolean;
