// A server on stdio that is none: everything goes to a port of this machine, where the test answers it.
import { connect } from 'node:net'

const socket = connect(Number(process.argv[2]), '127.0.0.1')
process.stdin.pipe(socket)
socket.pipe(process.stdout)
for (const event of ['close', 'error']) socket.on(event, () => process.exit(0))
