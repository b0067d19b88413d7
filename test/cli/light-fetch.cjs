/**
 * What the clients of these tests use of fetch, over node:http: to load the fetch of Node takes twice as long as to start Node.
 * They load this file with `--require`.
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
