// What the programs beside it take: here of one library; the test of the installed package puts each of `schemas` in its place.
export * from './schemas/zod-4.ts';
