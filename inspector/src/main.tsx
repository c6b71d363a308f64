import { render } from 'preact';
import { App } from './app.tsx';
import { start } from './state/connection.ts';

const root = document.getElementById('app');
if (root) render(<App />, root);
void start();
