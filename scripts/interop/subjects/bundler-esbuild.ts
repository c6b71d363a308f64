import { bundler } from '../bundler.ts';

export default bundler('esbuild', {
  packages: { esbuild: '0.28.2' },
  command: ['esbuild'],
  args: (out) => ['server.mjs', '--bundle', '--platform=node', '--format=esm', `--outfile=${out}/server.mjs`],
});
