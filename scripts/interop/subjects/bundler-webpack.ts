import { bundler } from '../bundler.ts';

export default bundler('webpack', {
  packages: { webpack: '5.113.0', 'webpack-cli': '7.3.1' },
  command: ['webpack-cli'],
  files: (out) => ({
    'webpack.config.mjs': `export default {
      mode: 'production', target: 'node22', entry: './server.mjs', experiments: { outputModule: true },
      output: { path: ${JSON.stringify(out)}, filename: '[name].mjs', module: true, chunkFormat: 'module' },
    };`,
  }),
  args: () => ['--config', 'webpack.config.mjs'],
});
