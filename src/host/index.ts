export { ReeveHost, type ReeveHostOptions } from './reeve-host.js'
