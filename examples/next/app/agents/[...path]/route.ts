import { agents } from '../../../server.ts';

export const GET = agents;
export const POST = agents;
export const DELETE = agents;
