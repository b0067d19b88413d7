import { type LookupFunction, Socket } from 'node:net'
import { type Address, reachOf } from '../../../src/adapters/webhooks/targets.ts'

/** A connection that a webhook was about to open. */
export interface Contact {
  /** All addresses that it would have tried. */
  readonly addresses: readonly string[]
  readonly port: number
}

interface Wanted {
  readonly host?: string
  readonly port?: number | string
  readonly lookup?: LookupFunction
  readonly headers?: Readonly<Record<string, unknown>>
}

// The arguments of `connect`: an object, or a list with this object first.
type Connect = (this: Socket, ...args: unknown[]) => Socket

/**
 * Records every connection that this process opens for a webhook while a part of a proof runs. Connections to this machine
 * are opened only if `reaches` is true, all others never: a broken guard must not harm other machines.
 */
export async function watched<T>(
  reaches: boolean,
  part: (contacts: readonly Contact[]) => Promise<T>,
): Promise<T> {
  const contacts: Contact[] = []
  const { prototype } = Socket as unknown as { prototype: { connect: Connect } }
  const { connect } = prototype
  prototype.connect = function (...args) {
    const wanted = (Array.isArray(args[0]) ? args[0][0] : args[0]) as Wanted
    if (wanted.headers?.['X-Emulator-Delivery'] === undefined) return connect.apply(this, args)
    const stop = (why: string) => void process.nextTick(() => this.destroy(new Error(why)))
    addressesOf(wanted).then(
      (addresses) => {
        contacts.push({ addresses, port: Number(wanted.port) })
        const isHere = addresses.every((address) => reachOf(address) === 'loopback')
        if (reaches && isHere && !this.destroyed) connect.apply(this, args)
        else stop('not connected: only a proof')
      },
      (error: Error) => stop(error.message),
    )
    return this
  }
  try {
    return await part(contacts)
  } finally {
    prototype.connect = connect
  }
}

function addressesOf({ host = '', lookup }: Wanted): Promise<string[]> {
  if (/^[\d.]+$|:/.test(host) || lookup === undefined) return Promise.resolve([host])
  return new Promise((resolve, reject) => {
    lookup(host, { all: true }, (error, found) => {
      if (error) reject(error)
      else resolve((found as unknown as Address[]).map(({ address }) => address))
    })
  })
}
