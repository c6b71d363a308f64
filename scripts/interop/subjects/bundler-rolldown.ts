import { bundler } from '../bundler.ts';

export default bundler('rolldown', {
  packages: { rolldown: '1.3.3' },
  command: ['rolldown'],
  args: (out) => ['server.mjs', '--platform', 'node', '--format', 'esm', '--dir', out],
});
