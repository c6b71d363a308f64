/** The page of the inspector on a server: its files, and how a browser signs in. */
export { Inspector } from './inspector.ts';
