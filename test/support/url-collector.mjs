// Preloaded (node --import) into every process of a run. Before a server of that process ends a response, each URL of the
// emulator in its headers and body is opened as a browser would, and the outcome goes to the file that URL_LOG names.
import { appendFileSync } from 'node:fs'
import http from 'node:http'

const OWN = /^http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?(?:\/@[^/]*)?\/(?:__emulator|v1|consent)\b/
const OPENED_BY_US = 'x-opened-by'

const { writeHead, write, end } = http.ServerResponse.prototype
const texts = new WeakMap()
const outcomes = new Map()
/** Chunks of responses with a Content-Length. They are held back until `end`, because their last byte completes the body. */
const held = new WeakMap()

function keep(response, ...parts) {
  const known = texts.get(response) ?? ''
  const text = parts.map((part) => (typeof part === 'object' ? JSON.stringify(part) : String(part ?? '')))
  texts.set(response, known + text.join('\n'))
}

function open(url) {
  return new Promise((resolve) => {
    const request = http.get(url, { agent: false, headers: { [OPENED_BY_US]: 'collector' } }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    request.on('error', (error) => resolve(error.message))
  })
}

async function check(url, at) {
  if (!OWN.test(url)) return appendFileSync(process.env.URL_LOG, `${JSON.stringify({ url, at })}\n`)
  if (!outcomes.has(url)) outcomes.set(url, open(url))
  const outcome = await outcomes.get(url)
  appendFileSync(process.env.URL_LOG, `${JSON.stringify({ url, at, outcome })}\n`)
}

http.ServerResponse.prototype.writeHead = function (...args) {
  keep(this, ...args)
  return writeHead.apply(this, args)
}

http.ServerResponse.prototype.write = function (...args) {
  keep(this, Buffer.from(args[0]).toString())
  const isChecked = this.req.headers[OPENED_BY_US] === undefined && /content-length/i.test(texts.get(this))
  if (!isChecked) return write.apply(this, args)
  held.set(this, [...(held.get(this) ?? []), args])
  return true
}

http.ServerResponse.prototype.end = function (...args) {
  if (this.req.headers[OPENED_BY_US] !== undefined) return end.apply(this, args)
  const body = args[0] === undefined || typeof args[0] === 'function' ? '' : Buffer.from(args[0]).toString()
  keep(this, body, this.getHeaders())
  const urls = new Set(texts.get(this).match(/https?:\/\/[^\s"'<>\\`]+/g))
  const at = `${this.req.method} ${this.req.url}`
  const release = () => {
    for (const written of held.get(this) ?? []) write.apply(this, written)
    end.apply(this, args)
  }
  if (urls.size === 0) release()
  else Promise.all([...urls].map((url) => check(url, at))).then(release)
  return this
}
