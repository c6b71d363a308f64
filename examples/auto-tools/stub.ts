import type { Model } from 'coxswain';
import { ScriptedModel } from 'coxswain/testing';

/** Stands in for a model where there is no key: says beforehand what it will say. */
export function stub(): Model {
  return new ScriptedModel({
    name: 'stub',
    responses: [
      { calls: [['get_weather', { location: 'San Francisco' }]] },
      'Fog over San Francisco, 14 °C.',
      {
        calls: [
          ['get_weather', { location: 'Tokyo' }],
          ['get_time', { timeZone: 'Asia/Tokyo' }],
        ],
      },
      'Tokyo has a clear sky and 22 °C; the tool has told me the time.',
      { text: 'First the product.', calls: [['calculate', { a: 17, operator: '*', b: 23 }]] },
      { text: 'Then the rest.', calls: [['calculate', { a: 391, operator: '-', b: 1 }]] },
      { deltas: ['That ', 'is ', '390.'] },
    ],
  });
}
