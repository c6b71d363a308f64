/** In place of a login: who the page is of. */
export async function GET(request: Request, { params }: { params: Promise<{ person: string }> }): Promise<Response> {
  const { person } = await params;
  const location = new URL(request.url).searchParams.get('chat') ?? '';
  const cookie = `person=${encodeURIComponent(person)}; Path=/; HttpOnly; SameSite=Lax`;
  return new Response(null, {
    status: 303,
    headers: { 'set-cookie': cookie, location: `/chat/${encodeURIComponent(location)}` },
  });
}
