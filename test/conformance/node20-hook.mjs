// Loaded with `--import` before the conformance suite, which expects a newer Node than this project supports.
import { register } from 'node:module'

register('./fs-with-glob.mjs', import.meta.url)
