import { Socket } from 'node:net';

// Imported into each child of a test before all else: the child ends with the process that has started it, however that one ends. Nothing is
// sent over this pipe, and it keeps nobody from ending sooner.

const life = new Socket({ fd: 3 });
life.on('error', () => {});
life.on('close', () => process.kill(process.pid, 'SIGKILL'));
life.resume();
life.unref();
