export { KEEP_NOTHING, narrowestHint, readCacheHint } from '../connections/index.js'
