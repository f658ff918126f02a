import { expect, it } from 'vitest';
import { filesOfTar } from '../../src/feeds/tar.ts';

function entry(path: string, text: string, type = '0'): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write(`${text.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  return Buffer.concat([header, Buffer.from(text), Buffer.alloc((512 - (text.length % 512)) % 512)]);
}

it('of an archive only plain files are seen, the last of a name, below its one folder', () => {
  const archive = Buffer.concat([
    entry('package/', '', '5'),
    entry('package/link', 'target', '2'),
    entry('pax', '9 path=x\n', 'x'),
    entry('package/a/b.txt', 'first'),
    entry('package/a/b.txt', 'x'.repeat(512)),
    entry('other/c.txt', ''),
    Buffer.alloc(1_024),
    entry('package/behind-the-end', 'x'),
  ]);
  const files = [...filesOfTar(archive)].map(([path, bytes]) => [path, bytes.toString()]);
  expect(files).toEqual([
    ['a/b.txt', 'x'.repeat(512)],
    ['c.txt', ''],
  ]);
});

it.each([
  ['no number', 'x'.repeat(12)],
  ['a negative one', '-1\0'],
  ['more than there is', '77777777777\0'],
])('a size that is %s is a broken archive', (_, size) => {
  const archive = entry('package/x', 'x');
  archive.write(size, 124);
  expect(() => filesOfTar(archive)).toThrow('a broken archive');
});
