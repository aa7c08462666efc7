// Scripts of this folder import packages that `install.sh` put into the cache, not beside them.
import { registerHooks } from "node:module";
import { pathToFileURL } from "node:url";

const cache = pathToFileURL(`${process.env.DEFT_REFEREES}/package.json`).href;
const here = new URL(".", import.meta.url).href;

registerHooks({
  resolve(name, context, next) {
    const ours = context.parentURL?.startsWith(here) && /^[@a-z]/.test(name) && !name.startsWith("node:");
    return next(name, ours ? { ...context, parentURL: cache } : context);
  },
});
