import { redirect } from 'next/navigation';
import { connection } from 'next/server';

/** A new chat: its id is the session's, and part of its address. */
export default async function NewChat() {
  await connection();
  redirect(`/chat/${crypto.randomUUID()}`);
}
