import type { Card } from '../state/inbox.ts';
import { short } from './short.ts';

export function titleOf({ request }: Pick<Card, 'request'>): string {
  const { name } = request;
  if (name !== undefined && name !== '') return name;
  return short(request.message ?? 'Question', 80);
}

/** The first short values of the arguments. */
export function argsLine(args: Record<string, unknown> | undefined): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(args ?? {})) {
    if (parts.length === 4) break;
    if (typeof value === 'object' && value !== null) continue;
    parts.push(`${short(name, 30)} ${short(String(value), 40)}`);
  }
  return parts.join(' · ');
}
