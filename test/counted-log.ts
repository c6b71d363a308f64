import type { AgentSource } from '../src/index.ts';

/** The same agent; notes each event that is read of its logs, and each reading. */
export function countedLog(inner: AgentSource): { source: AgentSource; read: { events: number; times: number } } {
  const read = { events: 0, times: 0 };
  const source: AgentSource = {
    ...inner,
    async open(...given) {
      const session = await inner.open(...given);
      const events = session.events.bind(session);
      return Object.assign(session, {
        async *events(...options: Parameters<typeof events>) {
          read.times++;
          for await (const event of events(...options)) {
            read.events++;
            yield event;
          }
        },
      });
    },
  };
  return { source, read };
}
