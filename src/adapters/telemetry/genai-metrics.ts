import type { Histogram, Meter, Attributes as OtelAttributes } from '@opentelemetry/api';
import type { Attributes } from '../../contracts/index.ts';
import { USAGE_COUNTS } from '../../contracts/index.ts';

const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const AGENT_SECONDS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 51.2, 102.4, 204.8, 409.6];
const TOKENS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Members of a model's call that its metrics are told by. */
const CLIENT = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'server.address',
  'server.port',
];
const TOOL = ['gen_ai.tool.name', 'gen_ai.tool.type', 'gen_ai.agent.name'];
const AGENT = ['gen_ai.agent.name'];
const NAMES = new Set([...CLIENT, ...TOOL, ...AGENT]);

/**
 * Different values that one attribute may have: each is a series of its own for as long as the process lives, and errors,
 * models and tools are named by providers, servers and users.
 */
const MAX_VALUES = 200;
/** All later ones, in the word of the conventions. */
const OTHER = '_OTHER';

/** The metric that adds up what an attribute of spans counts. */
const metricOf = (attribute: string): string => attribute.replace('gen_ai.usage.', 'gen_ai.client.inference.usage.');

/** The metrics of the GenAI conventions 0.1.0, with the two names that their predecessors (1.41 to 1.45) have for the same. */
export class GenAiMetrics {
  readonly #known = new Map<string, Set<string>>();
  readonly #record: Readonly<Record<string, (attributes: Attributes, seconds: number, error: OtelAttributes) => void>>;

  constructor(meter: Meter) {
    const seconds = (name: string, description: string, explicitBucketBoundaries = SECONDS): Histogram =>
      meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries } });
    const inference = seconds('gen_ai.client.inference.duration', 'Duration of a call of a model');
    const operation = seconds('gen_ai.client.operation.duration', 'Duration of a call of a model');
    const first = seconds('gen_ai.client.inference.time_to_first_chunk', 'Time until something of a stream came');
    const agent = seconds('gen_ai.invoke_agent.duration', 'Duration of a run of an agent', AGENT_SECONDS);
    const tool = seconds('gen_ai.execute_tool.duration', 'Duration of a call of a tool');
    const tokens = meter.createHistogram('gen_ai.client.token.usage', {
      unit: '{token}',
      description: 'Tokens of a call of a model',
      advice: { explicitBucketBoundaries: TOKENS },
    });
    const usage = Object.values(USAGE_COUNTS).map((attribute) => {
      const options = { unit: '{token}', description: 'Tokens of calls of models' };
      return [attribute, meter.createCounter(metricOf(attribute), options)] as const;
    });
    this.#record = {
      chat(attributes, duration, error) {
        const told = { ...picked(attributes, CLIENT), ...error };
        inference.record(duration, told);
        operation.record(duration, told);
        const plain = picked(attributes, CLIENT);
        const until = attributes['gen_ai.response.time_to_first_chunk'];
        if (typeof until === 'number') first.record(until, plain);
        for (const type of ['input', 'output'] as const) {
          const count = attributes[`gen_ai.usage.${type}_tokens`];
          if (typeof count === 'number') tokens.record(count, { ...plain, 'gen_ai.token.type': type });
        }
        for (const [attribute, counter] of usage) {
          const count = attributes[attribute];
          // Providers tell no counts by text, picture and sound that could be compared.
          if (typeof count === 'number') counter.add(count, { ...plain, 'gen_ai.token.modality': 'unknown' });
        }
      },
      execute_tool: (attributes, duration, error) => tool.record(duration, { ...picked(attributes, TOOL), ...error }),
      invoke_agent: (attributes, duration, error) => agent.record(duration, { ...picked(attributes, AGENT), ...error }),
    };
  }

  /** One operation that has ended. */
  record(attributes: Attributes, seconds: number, errorType: string | undefined): void {
    const operation = attributes['gen_ai.operation.name'];
    if (typeof operation !== 'string' || !Object.hasOwn(this.#record, operation)) return;
    const error = errorType === undefined ? {} : { 'error.type': this.#bounded('error.type', errorType) };
    const told = Object.entries(attributes).map(([name, value]) => [
      name,
      NAMES.has(name) ? this.#bounded(name, value) : value,
    ]);
    this.#record[operation]?.(Object.fromEntries(told), seconds, error);
  }

  #bounded<T>(name: string, value: T): T | string {
    if (typeof value !== 'string') return value;
    const known = this.#known.get(name) ?? new Set();
    this.#known.set(name, known);
    if (known.has(value)) return value;
    if (known.size >= MAX_VALUES) return OTHER;
    known.add(value);
    return value;
  }
}

function picked(attributes: Attributes, names: readonly string[]): OtelAttributes {
  const found: OtelAttributes = {};
  for (const name of names) if (attributes[name] !== undefined) found[name] = attributes[name];
  return found;
}
