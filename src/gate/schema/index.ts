/** Schemas of tools and outputs: conversion, validation, coercion, explanation. */
export { checkTool } from './check-tool.ts';
export type { PromisedOutput, ReadOutput } from './read-output.ts';
export { readOutput, readPromised, valueFault } from './read-output.ts';
export type { ToJsonSchemaOptions } from './schema.ts';
export { describeTool, toJsonSchema } from './schema.ts';
export type { ArgumentsSchema, ValidatedArgs } from './validate.ts';
export { validateArgs, validatedInTime } from './validate.ts';
export type { SchemaCheck } from './validator.ts';
export { compilePredicate, compileSchema, ensureValidator, fitsSchema } from './validator.ts';
