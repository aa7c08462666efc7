// Adds the token of a daemon to every request of a referee that cannot send one itself.
import { createRequire } from "node:module";

const require = createRequire(process.argv[1]);
const { getGlobalDispatcher, setGlobalDispatcher } = require("undici");
const value = `Bearer ${process.env.DEFT_TOKEN}`;

const add = (headers) =>
  Array.isArray(headers)
    ? [...headers, "authorization", value]
    : { ...headers, authorization: value };

const withToken = (dispatch) => (options, handler) =>
  dispatch({ ...options, headers: add(options.headers) }, handler);

setGlobalDispatcher(getGlobalDispatcher().compose(withToken));
