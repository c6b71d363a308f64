import type { ReportedRequest, RequestAnswer } from '../../contracts/index.ts';
import { readLine } from '../editing/index.ts';
import type { Screen } from '../terminal/index.ts';
import { clean, paint } from '../terminal/index.ts';

interface Field {
  type?: unknown;
  enum?: unknown;
  title?: unknown;
  description?: unknown;
  default?: unknown;
}

export type ElicitationAnswer = Extract<RequestAnswer, { kind: 'elicitation' }>;

/**
 * Asks an agent's own question at the terminal: field by field of its schema, or yes and no. Undefined: it stays
 * open.
 */
export async function answerElicitation(
  request: Pick<ReportedRequest, 'message' | 'requestedSchema' | 'elicitation' | 'context'>,
  screen: Screen,
  signal: AbortSignal,
): Promise<ElicitationAnswer | 'interrupted' | undefined> {
  screen.now(`${paint('yellow', '?')} ${paint('bold', clean(request.message ?? 'The agent asks something.'))}\n`);
  if (request.elicitation === 'auth_required') return answerCredential(request, screen, signal);
  const fields = fieldsOf(request.requestedSchema);
  if (fields.length === 0) {
    const line = await readLine('yes or no (empty: later): ', { signal });
    if (line === undefined || line === 'interrupted') return line;
    const word = line.text.trim().toLowerCase();
    if (word === '') return undefined;
    return { kind: 'elicitation', action: /^(y|yes|ok)$/.test(word) ? 'accept' : 'decline' };
  }
  screen.now(`${paint('dim', 'Ctrl-D leaves it open; "!" alone declines.')}\n`);
  const content: Record<string, unknown> = {};
  for (const [name, field] of fields) {
    const line = await readLine(`${labelOf(name, field)}: `, { signal });
    if (line === undefined || line === 'interrupted') return line;
    if (line.text.trim() === '!') return { kind: 'elicitation', action: 'decline' };
    const value = typedValue(line.text, field);
    if (value !== undefined) content[name] = value;
  }
  return { kind: 'elicitation', action: 'accept', content };
}

/** A credential is typed unseen, and goes to the credential service alone. */
async function answerCredential(
  { context = {} }: Pick<ReportedRequest, 'context'>,
  screen: Screen,
  signal: AbortSignal,
): Promise<ElicitationAnswer | 'interrupted' | undefined> {
  const facts = ['key', 'scheme', 'url', 'scopes'].flatMap((name) =>
    context[name] === undefined ? [] : [`${name} ${[context[name]].flat().join(' ')}`],
  );
  if (facts.length > 0) screen.now(`${paint('dim', clean(`  ${facts.join(' · ')}`))}\n`);
  const line = await readLine('credential, not shown (empty: later; "!" alone: no): ', { hidden: true, signal });
  if (line === undefined || line === 'interrupted') return line;
  const text = line.text.trim();
  if (text === '') return undefined;
  if (text === '!') return { kind: 'elicitation', action: 'decline' };
  return { kind: 'elicitation', action: 'accept', content: { credential: asCredential(text) } };
}

/** Credentials of several parts are typed as a JSON object. */
function asCredential(text: string): unknown {
  if (!text.startsWith('{')) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function fieldsOf(schema: ReportedRequest['requestedSchema']): [string, Field][] {
  const properties = (schema as { properties?: unknown } | undefined)?.properties;
  return typeof properties === 'object' && properties !== null
    ? Object.entries(properties as Record<string, Field>)
    : [];
}

function labelOf(name: string, { title, description, enum: choices, default: fallback }: Field): string {
  const notes = [
    ...(typeof description === 'string' ? [description] : []),
    ...(Array.isArray(choices) ? [choices.join(' | ')] : []),
    ...(fallback === undefined ? [] : [`default ${JSON.stringify(fallback)}`]),
  ];
  return clean(`${typeof title === 'string' ? title : name}${notes.length > 0 ? ` (${notes.join('; ')})` : ''}`);
}

/** What was typed, as the type that is asked for; text where it cannot be that, so that the session says what is wrong. */
function typedValue(text: string, { type, default: fallback }: Field): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return fallback;
  if (type === 'string' || type === undefined) return text;
  if (type === 'boolean' && /^(y|yes|n|no)$/i.test(trimmed)) return /^y/i.test(trimmed);
  try {
    return JSON.parse(trimmed);
  } catch {
    return text;
  }
}
