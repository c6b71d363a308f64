/**
 * A call of 90 s lives by progress with the clients' own timers of 60 s and the server's own interval of 15 s, over
 * HTTP with every client: `npm run mcp:long`. It takes as long as it says, so it is no part of `npm test`.
 */
import { connect, kinds, textOf } from './clients.ts';
import { openShop } from './kit.ts';

const SECONDS = Number(process.argv[2] ?? 90);

const outcomes = await Promise.all(
  kinds.map(async (kind) => {
    await using shop = await openShop();
    await using client = await connect(kind, { url: shop.url });
    const seen: number[] = [];
    const call = client.call(
      'puppet',
      { prompt: 'call wait {}' },
      { resetTimeoutOnProgress: true, onprogress: ({ progress }) => seen.push(progress) },
    );
    setTimeout(() => shop.waiting.release(), SECONDS * 1000);
    const text = await call.then(textOf, (error: Error) => `thrown: ${error.message}`);
    const rises = seen.every((progress, n) => n === 0 || progress > (seen[n - 1] ?? 0));
    const ok = text === 'got {"content":"waited"}' && rises && seen.length >= Math.floor(SECONDS / 15);
    process.stdout.write(
      `${kind}: ${ok ? 'ok' : 'FAILED'} after ${SECONDS} s, ${seen.length} signs of life, ${text}\n`,
    );
    return ok;
  }),
);
process.exit(outcomes.every(Boolean) ? 0 : 1);
