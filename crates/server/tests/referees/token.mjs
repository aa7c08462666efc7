// Adds the token of deft to the requests of a referee that cannot send headers of its choice.
const plain = globalThis.fetch;

globalThis.fetch = (input, init = {}) => {
  const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
  headers.set("Authorization", `Bearer ${process.env.DEFT_TOKEN}`);
  return plain(input, { ...init, headers });
};
