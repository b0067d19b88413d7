/**
 * What the clients of these tests use, which load this file with `--require`: fetch over node:http, since to load the fetch of Node
 * takes twice as long as to start Node, and two functions on it, `api` and `control`.
 */
const { request } = require('node:http')
const { json, text } = require('node:stream/consumers')

globalThis.fetch = (url, { method = 'GET', headers = {}, body } = {}) =>
  new Promise((resolve, reject) => {
    request(url, { method, headers }, (response) => {
      const { statusCode: status, socket } = response
      // As with fetch, a body that nobody reads does not keep the process alive.
      socket.unref()
      const read = () => {
        socket.ref()
        return response
      }
      resolve({
        status,
        ok: status >= 200 && status < 300,
        headers: { get: (name) => response.headers[name] ?? null },
        get body() {
          return read()
        },
        json: () => json(read()),
        text: () => text(read()),
      })
    })
      .on('error', reject)
      .end(body)
  })

const { WORKSPACE_BASE_URL: base, WORKSPACE_API_KEY: ownKey, WORKSPACE_EMULATOR_URL: url } = process.env

/** A request to the API, usually with the key of the command and in its sandbox. */
globalThis.api = (path, { key = ownKey, sandbox, headers, ...init } = {}) => {
  const token = sandbox === undefined ? key : `${key}@${sandbox}`
  return fetch(base + path, { ...init, headers: { authorization: `Bearer ${token}`, ...headers } })
}

/** A call of the control interface. @param path after the address of the emulator */
globalThis.control = async (method, path, body) => {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${method} ${path}: ${await answer.text()}`)
}
