import { type LookupFunction, Socket } from 'node:net'
import { type Address, reachOf } from '../../../src/adapters/webhooks/targets.ts'

/** A connection that was about to be made for a webhook. */
export interface Contact {
  /** Every address that it would have tried. */
  readonly addresses: readonly string[]
  readonly port: number
}

interface Wanted {
  readonly host?: string
  readonly port?: number | string
  readonly lookup?: LookupFunction
  readonly headers?: Readonly<Record<string, unknown>>
}

// What connections are made with: an object, or a list whose first member it is.
type Connect = (this: Socket, ...args: unknown[]) => Socket

/**
 * Notes every connection that this process begins for a webhook while a part of a proof runs. Those that lead to this
 * machine are made when `reaches` says so, others never: a guard that fails must not harm anybody.
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
