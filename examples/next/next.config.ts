import type { NextConfig } from 'next';

const config: NextConfig = {
  // It opens its stores and its optional packages when they are needed: a bundle would hold all of them.
  serverExternalPackages: ['coxswain'],
};
export default config;
