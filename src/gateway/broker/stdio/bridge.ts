import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { BrokerError } from '../../../errors.js'
import { LIMITS, LineSplitter, RPC } from '../../../protocol/index.js'
import { errorAnswer } from '../../inbound.js'
import { type GoodbyeReason, LEAVING } from '../wire/session-frames.js'
import { takeFrames } from './broker-frames.js'
import { type ClientFrame, clientFrame, isRequest } from './client-frame.js'
import { Conversation } from './conversation.js'
import { STAYS_OPEN, unreachableAnswer } from './repeating.js'

export interface BridgeOptions {
  /** Where the client's bytes come from and go to. Default: this process's stdin and stdout. */
  readonly streams?: { readonly input: Readable; readonly output: Writable }
  /** Past the handshake. */
  readonly socket: Socket
  /** Joins a broker again after the last one ended. `resumed` counts from 1. */
  readonly rejoin: (resumed: number) => Promise<Socket>
  /** Told to people, on stderr. */
  readonly onNote: (text: string) => void
  /** Ends the session at once, and with it everything that was asked. */
  readonly signal?: AbortSignal
  /** Milliseconds that it is tried to join a broker again. Default 30,000. */
  readonly patienceMs?: number
}

/** How a bridge ended. */
export type BridgeEnd = 'client_left' | 'aborted' | 'broker_lost'

type Link =
  | { readonly kind: 'open'; readonly socket: Socket }
  /** The broker leaves: it answers what it has, and gets no further request. */
  | { readonly kind: 'leaving'; readonly socket: Socket; readonly reason: GoodbyeReason }
  /** The broker was stopped; the next is joined when the client asks for something. */
  | { readonly kind: 'resting' }
  | { readonly kind: 'joining' }
  | { readonly kind: 'ended' }

/** Bytes of the client that are held while no broker is there; then its pipe has to wait. */
const HELD_BYTES = LIMITS.stdioLine

/**
 * Carries one client's session between its pipe and the broker, frame by frame and unchanged. The session outlives the
 * broker: when that ends, another one is joined and told how the session was opened. What only reads is asked again,
 * what may have had an effect is answered with an error, and the client keeps its pipe.
 *
 * @example
 * ```ts
 * const end = await bridgeStdio({ socket, rejoin, onNote: console.error })
 * ```
 */
export function bridgeStdio(options: BridgeOptions): Promise<BridgeEnd> {
  return new Bridge(options).run()
}

class Bridge {
  readonly #options: BridgeOptions
  readonly #input: Readable
  readonly #output: Writable
  readonly #conversation = new Conversation()
  readonly #fromClient: LineSplitter
  #link: Link
  #held: ClientFrame[] = []
  #heldBytes = 0
  #resumed = 0
  #clientLeft = false
  #end: (end: BridgeEnd) => void = () => undefined

  constructor(options: BridgeOptions) {
    this.#options = options
    this.#input = options.streams?.input ?? process.stdin
    this.#output = options.streams?.output ?? process.stdout
    this.#link = { kind: 'open', socket: options.socket }
    this.#fromClient = new LineSplitter({
      limit: LIMITS.stdioLine,
      tooLong: 'refuse',
      what: "a line of the client's input",
      onLine: (line) => this.#clientSaid(clientFrame(line)),
    })
  }

  run(): Promise<BridgeEnd> {
    const { socket, signal } = this.#options
    const ended = new Promise<BridgeEnd>((resolve) => {
      this.#end = resolve
    })
    this.#listen(socket)
    this.#input.on('end', this.#onInputEnd).on('close', this.#onInputEnd).on('error', this.#onGone)
    this.#input.on('data', this.#onInput)
    this.#output.on('error', this.#onGone).on('drain', this.#onDrain)
    const onAbort = () => this.#finish('aborted')
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted) onAbort()
    return ended.finally(() => signal?.removeEventListener('abort', onAbort))
  }

  readonly #onInput = (chunk: Buffer): void => {
    try {
      this.#fromClient.push(chunk)
    } catch {
      const message = `Invalid Request: the line is longer than ${LIMITS.stdioLine} bytes`
      this.#tell(undefined, `${JSON.stringify(errorAnswer(null, RPC.invalidRequest, message))}\n`)
      this.#finish('client_left')
    }
  }

  readonly #onInputEnd = (): void => {
    if (this.#clientLeft) return
    this.#fromClient.end()
    this.#clientLeft = true
    if (this.#link.kind === 'open') this.#sayLeaving(this.#link.socket)
    else if (this.#link.kind === 'resting') this.#finish('client_left')
  }

  readonly #onGone = (): void => this.#finish('client_left')

  readonly #onDrain = (): void => {
    if (this.#link.kind === 'open' || this.#link.kind === 'leaving') this.#link.socket.resume()
  }

  #clientSaid(frame: ClientFrame): void {
    const link = this.#link
    const passes = link.kind === 'open' || (link.kind === 'leaving' && !asks(frame))
    // One that was destroyed tells so a moment later, and takes nothing until then.
    if (passes && !link.socket.destroyed) this.#send(link.socket, frame)
    else if (link.kind !== 'ended') this.#hold(frame)
  }

  #hold(frame: ClientFrame): void {
    this.#held.push(frame)
    this.#heldBytes += frame.line.length
    if (this.#heldBytes > HELD_BYTES) this.#input.pause()
    if (this.#link.kind === 'resting') void this.#join()
  }

  #send(socket: Socket, frame: ClientFrame): void {
    if (!this.#conversation.sending(frame)) return
    if (!socket.write(Buffer.concat([frame.line, LF]))) this.#input.pause()
  }

  #listen(socket: Socket): void {
    takeFrames(socket, {
      onFrame: (line) => this.#brokerSaid(socket, line),
      onFault: (error) => {
        this.#options.onNote(error instanceof Error ? error.message : String(error))
        // Another broker may do better, unless it is the session that can't be carried on.
        if (error instanceof BrokerError) this.#finish('broker_lost')
        else socket.destroy()
      },
      onDrain: () => {
        if (this.#heldBytes <= HELD_BYTES) this.#input.resume()
      },
      onGone: () => this.#brokerEnded(socket),
    })
  }

  #brokerSaid(socket: Socket, line: Buffer): void {
    const passing = this.#conversation.received(line)
    if (passing.kind === 'pass') this.#tell(socket, Buffer.concat([line, LF]))
    else if (passing.kind === 'instead') for (const other of passing.lines) this.#tell(socket, `${other}\n`)
    else if (this.#link.kind === 'open') this.#link = { kind: 'leaving', socket, reason: passing.reason }
    this.#leaveWhenAnswered()
  }

  #tell(socket: Socket | undefined, text: Buffer | string): void {
    if (!this.#output.write(text)) socket?.pause()
  }

  /** What stays open (streams) goes on with the next broker, so this one is left without a word about it. */
  #leaveWhenAnswered(): void {
    if (this.#link.kind === 'leaving' && this.#conversation.unanswered === 0) this.#link.socket.destroy()
  }

  #brokerEnded(socket: Socket): void {
    const link = this.#link
    if ((link.kind !== 'open' && link.kind !== 'leaving') || link.socket !== socket) return
    const { tell, again } = this.#conversation.lost()
    for (const line of tell) this.#tell(undefined, `${line}\n`)
    // Sent again, they are open again; the frames hold one message each.
    this.#held.unshift(...again.map(clientFrame))
    this.#link = { kind: 'resting' }
    // It may have waited for this socket to take more.
    if (this.#heldBytes <= HELD_BYTES) this.#input.resume()
    if (this.#clientLeft && this.#held.every(waitsForNews)) this.#finish('client_left')
    else if (link.kind === 'open' || link.reason === 'handover' || this.#held.length > 0) void this.#join()
  }

  async #join(): Promise<void> {
    this.#link = { kind: 'joining' }
    this.#resumed += 1
    this.#options.onNote('the broker has ended: joining another one')
    try {
      const socket = await this.#rejoin()
      if (this.#isEnded()) socket.destroy()
      else this.#carryOn(socket)
    } catch (error) {
      this.#options.onNote(error instanceof Error ? error.message : String(error))
      this.#giveUp()
    }
  }

  async #rejoin(): Promise<Socket> {
    const end = performance.now() + (this.#options.patienceMs ?? 30_000)
    for (;;) {
      try {
        return await this.#options.rejoin(this.#resumed)
      } catch (error) {
        const hopeless = error instanceof BrokerError && error.code === 'broker_incompatible'
        if (hopeless || performance.now() > end || this.#isEnded()) throw error
        await pause(RETRY_MS)
      }
    }
  }

  #carryOn(socket: Socket): void {
    this.#link = { kind: 'open', socket }
    for (const line of this.#conversation.reopening()) socket.write(`${line}\n`)
    const held = this.#held
    this.#held = []
    this.#heldBytes = 0
    this.#listen(socket)
    for (const frame of held) this.#send(socket, frame)
    for (const line of this.#conversation.news()) this.#tell(socket, `${line}\n`)
    this.#input.resume()
    if (this.#clientLeft) this.#sayLeaving(socket)
  }

  /** The client is told of everything that it still waits for. */
  #giveUp(): void {
    const ids = this.#held.flatMap(({ messages }) => messages.filter(isRequest).map(({ id }) => id ?? null))
    for (const id of ids) this.#tell(undefined, `${unreachableAnswer(id)}\n`)
    this.#finish('broker_lost')
  }

  #sayLeaving(socket: Socket): void {
    socket.end(`${JSON.stringify({ jsonrpc: '2.0', method: LEAVING })}\n`)
  }

  #isEnded(): boolean {
    return this.#link.kind === 'ended'
  }

  #finish(end: BridgeEnd): void {
    const link = this.#link
    if (link.kind === 'ended') return
    this.#link = { kind: 'ended' }
    if (link.kind === 'open' || link.kind === 'leaving') link.socket.destroy()
    this.#input.pause()
    this.#input.off('data', this.#onInput)
    this.#end(end)
  }
}

/** What is no message is the broker's to answer, too. */
function asks({ messages }: ClientFrame): boolean {
  return messages.length === 0 || messages.some(isRequest)
}

/** Nobody is there to be told news any more. */
function waitsForNews({ messages }: ClientFrame): boolean {
  return messages.every(({ method }) => method === STAYS_OPEN)
}

const LF = Buffer.from('\n')
const RETRY_MS = 500
