/** The first bytes of a PNG of a size, with nothing behind its header. */
export function aPng(width: number, height: number): Buffer {
  const png = Buffer.alloc(33)
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]).copy(png)
  png.write('IHDR', 12, 'latin1')
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  png.set([8, 6], 24)
  return png
}

/** The first bytes of a JPEG of a size: a segment of the format, and the frame. */
export function aJpeg(width: number, height: number): Buffer {
  const jpeg = Buffer.alloc(39)
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, ...Buffer.from('JFIF\0', 'latin1')]).copy(jpeg)
  jpeg.set([0xff, 0xc0, 0, 17, 8], 20)
  jpeg.writeUInt16BE(height, 25)
  jpeg.writeUInt16BE(width, 27)
  return jpeg
}
