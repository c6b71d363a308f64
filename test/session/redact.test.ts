import { expect, test } from 'vitest';
import { REDACTED } from '../../src/session/index.ts';
import { hiddenTexts, withoutTexts } from '../../src/session/redact.ts';

test.each([[{ a: 'abc', b: 'abcdef' }], [{ a: 'abcdef', b: 'abc' }]])(
  'MUT-D4 of two hidden texts the longer one is hidden first, so that no end of it is left: %j',
  (args) => {
    const texts = hiddenTexts([args], ['/a', '/b']);
    expect(texts).toEqual(['abcdef', 'abc']);
    expect(withoutTexts({ said: 'x abcdef, y abc' }, texts)).toEqual({ said: `x ${REDACTED}, y ${REDACTED}` });
  },
);
