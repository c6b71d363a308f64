import { bundler } from '../bundler.ts';

export default bundler('Rspack', {
  packages: { '@rspack/core': '2.3.3', '@rspack/cli': '2.2.8' },
  command: ['@rspack/cli', 'rspack'],
  files: (out) => ({
    'rspack.config.mjs': `export default {
      mode: 'production', target: 'node22', entry: './server.mjs', experiments: { outputModule: true },
      output: { path: ${JSON.stringify(out)}, filename: '[name].mjs', module: true, chunkFormat: 'module' },
    };`,
  }),
  args: () => ['build', '--config', 'rspack.config.mjs'],
});
