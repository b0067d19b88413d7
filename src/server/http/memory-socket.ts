import { Duplex } from 'node:stream'
import { inNextTurn } from '../../core/time/realtime.ts'

type Done = (error?: Error) => void

/** The end of a connection inside this process: what one end writes, the other end reads in the next turn of the event loop. */
export class MemorySocket extends Duplex {
  /** The port of the URL; undefined for the default port of its scheme. */
  readonly localPort: number | undefined
  #peer: MemorySocket | undefined
  #written = 0
  /** Called when the reader of this end wants more: the write of the other end is complete only then. */
  #wantMore: Done | undefined

  private constructor(localPort: number | undefined, allowHalfOpen: boolean) {
    super({ allowHalfOpen })
    this.localPort = localPort
  }

  /** The two ends of a new connection to the origin of a URL. As in Node, only the server may write after the other has ended. */
  static pair({ port, protocol }: URL): readonly [client: MemorySocket, server: MemorySocket] {
    const localPort = port === '' ? undefined : Number(port)
    const [client, server] = [new MemorySocket(localPort, false), new MemorySocket(localPort, true)]
    client.#peer = server
    server.#peer = client
    // Node has this property only on sockets with TLS.
    if (protocol === 'https:') Object.assign(server, { encrypted: true })
    // As on a socket, a client that leaves is not an error of the process.
    for (const end of [client, server]) end.on('error', () => {})
    return [client, server]
  }

  /** Node calls it when a connection is used again: a socket then keeps the process alive. */
  ref(): this {
    return this
  }

  get bytesWritten(): number {
    return this.#written + this.writableLength
  }

  override _read(): void {
    const wantMore = this.#wantMore
    this.#wantMore = undefined
    wantMore?.()
  }

  override _write(chunk: Buffer, _encoding: string, done: Done): void {
    // A copy: the writer may use its bytes again.
    this.#send(Buffer.from(chunk), done)
  }

  override _writev(chunks: readonly { readonly chunk: Buffer }[], done: Done): void {
    this.#send(Buffer.concat(chunks.map(({ chunk }) => chunk)), done)
  }

  override _final(done: () => void): void {
    this.#endPeer()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#wantMore?.(reset())
    this.#wantMore = undefined
    this.#endPeer()
    done(error)
  }

  /** Ends the connection with an error at the other end, without the bytes that it has not read. */
  resetAndDestroy(): void {
    this.#peer?.destroy(reset())
    this.destroy()
  }

  /** Closes the connection after all written bytes. */
  destroySoon(): void {
    if (this.writable) this.end()
    if (this.writableFinished) this.destroy()
    else this.once('finish', () => this.destroy())
  }

  #endPeer(): void {
    inNextTurn(() => {
      this.#peer?.push(null)
      // Otherwise a connection that nothing reads would not notice its end.
      this.#peer?.read(0)
    })
  }

  #send(bytes: Buffer, done: Done): void {
    const written: Done = (error) => {
      if (error === undefined) this.#written += bytes.length
      done(error)
    }
    // Node writes nothing at the end of a response, to learn when it has been sent.
    if (bytes.length === 0) written()
    else inNextTurn(() => this.#deliver(bytes, written))
  }

  #deliver(bytes: Buffer, written: Done): void {
    const peer = this.#peer
    if (peer === undefined || peer.destroyed || peer.readableEnded) {
      written(reset())
      return
    }
    const isRoom = peer.readableLength + bytes.length < peer.readableHighWaterMark
    // Before the other end reads them: if it then leaves at once, the log says that the response was whole.
    if (isRoom) {
      written()
      peer.push(bytes)
    } else if (peer.push(bytes)) written()
    else peer.#wantMore = written
  }
}

function reset(): Error {
  return Object.assign(new Error('The connection was reset.'), { code: 'ECONNRESET' })
}
