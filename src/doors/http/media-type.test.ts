import { expect, test } from 'vitest'
import { isJsonContentType } from './media-type.ts'

test('R002 JSON media types are told, in any case and with any parameters', () => {
  for (const header of [
    'application/json',
    'Application/JSON',
    'application/problem+json',
    'application/json;charset=utf-8',
    'application/json ; Charset="UTF-8"',
    'application/json; profile="a;b=\\"c\\""; v=1',
    'application/json;',
  ]) {
    expect(isJsonContentType(header), header).toBe('json')
  }
})

test('a missing header is told from a foreign type', () => {
  expect(isJsonContentType(undefined)).toBe('missing')
  expect(isJsonContentType(' ')).toBe('missing')
  for (const header of [
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/x-www-form-urlencoded',
    'application/xml+jsonx',
    'application',
    'application/json, text/plain',
    'application/json charset=utf-8',
    'application/json; charset',
    'application/json; =utf-8',
  ]) {
    expect(isJsonContentType(header), header).toBe('other')
  }
})

test('any charset but utf-8 is refused, wherever it stands', () => {
  expect(isJsonContentType('application/json; charset=iso-8859-1')).toBe('bad_charset')
  expect(isJsonContentType('application/json; v=1; charset="utf-16"')).toBe('bad_charset')
  expect(isJsonContentType('application/json; charset=utf-8; charset=latin1')).toBe('bad_charset')
})
