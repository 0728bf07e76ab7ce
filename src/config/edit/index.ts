export { addEnvironment, removeEnvironment } from './environments.js'
export { type HookStateChange, setHookState } from './hook-states.js'
export { type AddOutcome, addServer, putServers, removeServer, setEnabled, setTrust } from './servers.js'
