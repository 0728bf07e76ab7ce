export { FirstPartyHost, type FirstPartyOptions, type HomeCredentials } from './first-party.js'
export { ReeveHost, type ReeveHostOptions } from './reeve-host.js'
