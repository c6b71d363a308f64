import { existsSync, readFileSync } from 'node:fs';
import starlight from '@astrojs/starlight';
import { defineConfig, passthroughImageService } from 'astro/config';

/** Written by `build.ts` from `navigation.ts` and the API's entries. */
const written = new URL('./generated/sidebar.json', import.meta.url);

export default defineConfig({
  // Where the site lies below its host, as in `DOCS_BASE=/coxswain/ npm run docs`.
  base: process.env.DOCS_BASE ?? '/',
  outDir: './dist',
  build: { format: 'directory' },
  image: { service: passthroughImageService() },
  devToolbar: { enabled: false },
  integrations: [
    starlight({
      title: 'Coxswain',
      description: 'Stay in control of agents: policy, approvals, hooks and a log around every tool call.',
      sidebar: existsSync(written) ? JSON.parse(readFileSync(written, 'utf8')) : [],
      customCss: ['./src/styles/site.css'],
      tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 3 },
      credits: false,
      expressiveCode: {
        defaultProps: { overridesByLang: { sh: { frame: 'none' } } },
        shiki: { langAlias: { jsonl: 'json', rego: 'txt', cedar: 'txt' } },
      },
    }),
  ],
});
