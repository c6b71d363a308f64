import { bundler } from '../bundler.ts';

export default bundler('Vite', {
  packages: { vite: '8.4.0' },
  command: ['vite'],
  files: () => ({ 'vite.config.mjs': 'export default { ssr: { noExternal: true } };' }),
  args: (out) => ['build', '--ssr', 'server.mjs', '--outDir', out, '--logLevel', 'warn'],
});
