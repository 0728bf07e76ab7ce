// What serves clients from this process. Asked for by name, and not by the room's door, so that verbs that use other parts
// of the room don't load these.
export { Broker, loadOrCreateToken, ProtectedResource, serveHttp, serveStdio } from '../../gateway/index.js'
