import { FunctionTools } from 'coxswain/auto-tools';
import { z } from 'zod';

const sky: Record<string, string> = { 'San Francisco': 'fog, 14 °C', Tokyo: 'clear, 22 °C', Zürich: 'rain, 9 °C' };

/** Weather, time and arithmetic: three functions that read nothing but their arguments and the clock. */
export function demoTools(now: () => Date = () => new Date()): FunctionTools {
  const readOnly = { readOnly: true };
  return new FunctionTools()
    .register<{ location: string }>(
      {
        name: 'get_weather',
        description: 'Gets the weather of a place.',
        parameters: z.object({ location: z.string() }),
        annotations: readOnly,
      },
      ({ location }) => ({ location, weather: sky[location] ?? 'nobody has looked there' }),
    )
    .register<{ timeZone?: string }>(
      {
        name: 'get_time',
        description: 'Gets the time of day in a time zone, such as Asia/Tokyo.',
        parameters: z.object({ timeZone: z.string().optional() }),
        annotations: readOnly,
      },
      ({ timeZone = 'UTC' }) => now().toLocaleTimeString('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }),
    )
    .register<{ a: number; operator: '+' | '-' | '*' | '/'; b: number }>(
      {
        name: 'calculate',
        description: 'Calculates with two numbers.',
        parameters: z.object({ a: z.number(), operator: z.enum(['+', '-', '*', '/']), b: z.number() }),
        annotations: readOnly,
      },
      ({ a, operator, b }) => {
        if (operator === '/' && b === 0) throw new Error('nothing can be divided by 0');
        return { '+': a + b, '-': a - b, '*': a * b, '/': a / b }[operator];
      },
    );
}
