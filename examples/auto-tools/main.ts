import { modelFromEnv } from 'coxswain/models';
import { demo } from './demo.ts';
import { stub } from './stub.ts';
import { demoTools } from './tools.ts';

const { model = stub(), why } = modelFromEnv(process.env);
console.error(`model ${model.name}: ${why}`);
await demo(model, demoTools(), (text) => process.stdout.write(text));
