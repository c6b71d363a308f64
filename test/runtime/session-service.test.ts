import { InMemorySessionService } from '../../src/runtime/index.ts';
import { sessionServiceSuite } from '../suites/session-service.ts';

sessionServiceSuite('memory', async () => {
  const service = new InMemorySessionService();
  return { service, close: () => service.close() };
});
