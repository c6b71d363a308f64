import { pathToFileURL } from 'node:url';
import { bundler } from '../bundler.ts';

export default bundler('Rollup', {
  packages: {
    rollup: '4.68.8',
    '@rollup/plugin-node-resolve': '16.0.3',
    '@rollup/plugin-commonjs': '29.0.3',
    '@rollup/plugin-json': '6.1.0',
  },
  command: ['rollup'],
  files(out, { file }) {
    const plugin = (name: string) =>
      JSON.stringify(pathToFileURL(file(`@rollup/plugin-${name}/dist/es/index.js`)).href);
    return {
      'rollup.config.mjs': `
        import resolve from ${plugin('node-resolve')};
        import commonjs from ${plugin('commonjs')};
        import json from ${plugin('json')};
        export default {
          input: 'server.mjs',
          output: { dir: ${JSON.stringify(out)}, format: 'es', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' },
          plugins: [resolve({ preferBuiltins: true }), commonjs(), json()],
        };`,
    };
  },
  args: () => ['--config', 'rollup.config.mjs', '--silent'],
});
