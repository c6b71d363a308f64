import { InMemoryMemoryService } from '../../src/runtime/index.ts';
import { memoryServiceSuite } from '../suites/memory-service.ts';

memoryServiceSuite('in memory', async () => ({ service: new InMemoryMemoryService(), close: async () => {} }));
