import type { Screen } from '../terminal/index.ts';
import { clean, lineWidth, oneLine, paint } from '../terminal/index.ts';
import type { HostFlags, ModuleHost } from '../workspace/index.ts';

/** What somebody should know who sits at the terminal, in four lines at most. */
export function greet(
  { host, agent, module }: ModuleHost,
  { workspace }: HostFlags,
  notes: readonly string[],
  screen: Screen,
): void {
  const { description } = host.agents[0] ?? {};
  const about = !description ? '' : `: ${clean(description)}`;
  const [example] = module.examples ?? [];
  const facts = [...(workspace === undefined ? [] : [`folder ${clean(workspace)}`]), ...notes];
  const lines = [
    `${paint('bold', `You talk to ${clean(agent)}`)}${about}`,
    ...(facts.length > 0 ? [paint('dim', oneLine(facts.join(' · '), lineWidth()))] : []),
    ...(example === undefined ? [] : [`Try: ${paint('cyan', clean(example))}`]),
    paint('dim', '/help for commands · Ctrl-C stops a turn · Ctrl-D leaves'),
  ];
  for (const line of lines) screen.line(line);
}
