// SPDX-License-Identifier: Apache-2.0
// Pool sockets|client UPSTREAM_PORT PORT: one thread selects and reads; 8 workers make a call and answer.
//   sockets  any free connection of 8, with blocking reads
//   client   java.net.http.HttpClient, whose own threads read and write
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

class Pool {
	static final int WORKERS = 8;
	static final byte[] ANSWER =
		"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n".getBytes(StandardCharsets.US_ASCII);
	static final BlockingQueue<Socket> free = new ArrayBlockingQueue<>(WORKERS);
	static HttpClient client;
	static int upstream;

	static void callSocket(String path) throws Exception {
		Socket there = free.take();
		byte[] seen = new byte[4096];
		int count = 0;

		there.getOutputStream().write(("GET " + path + "?call=0 HTTP/1.1\r\nHost: up\r\n\r\n").getBytes());
		InputStream in = there.getInputStream();
		while (count < 6 || seen[count - 6] != 'h' || seen[count - 1] != '\n') {
			int more = in.read(seen, count, seen.length - count);
			if (more <= 0)
				throw new IllegalStateException("the upstream closed the connection");
			count += more;
		}
		free.put(there);
	}

	static void callClient(String path) throws Exception {
		URI uri = URI.create("http://127.0.0.1:" + upstream + path + "?call=0");

		client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
	}

	static void work(SocketChannel there, String path) {
		try {
			if (client == null)
				callSocket(path);
			else
				callClient(path);
			there.write(ByteBuffer.wrap(ANSWER));
		} catch (Exception error) {
			error.printStackTrace();
			System.exit(1);
		}
	}

	/** Null: the client closed the connection. A request comes in one piece. */
	static String readPath(SocketChannel there, ByteBuffer buffer) throws Exception {
		buffer.clear();
		if (there.read(buffer) <= 0)
			return null;
		return new String(buffer.array(), 0, buffer.position(), StandardCharsets.US_ASCII).split(" ", 3)[1];
	}

	public static void main(String[] arguments) throws Exception {
		ExecutorService workers = Executors.newFixedThreadPool(WORKERS);
		Selector selector = Selector.open();
		ServerSocketChannel listener = ServerSocketChannel.open();
		ByteBuffer buffer = ByteBuffer.allocate(4096);

		upstream = Integer.parseInt(arguments[1]);
		if (arguments[0].equals("client"))
			client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
		for (int i = 0; client == null && i < WORKERS; i++) {
			Socket there = new Socket("127.0.0.1", upstream);
			there.setTcpNoDelay(true);
			free.put(there);
		}
		listener.bind(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[2])), 256);
		listener.configureBlocking(false);
		listener.register(selector, SelectionKey.OP_ACCEPT);
		for (;;) {
			selector.select();
			for (SelectionKey key : selector.selectedKeys()) {
				if (key.isAcceptable()) {
					SocketChannel there = listener.accept();
					there.configureBlocking(false);
					there.register(selector, SelectionKey.OP_READ);
					continue;
				}
				SocketChannel there = (SocketChannel)key.channel();
				String path = readPath(there, buffer);
				if (path == null)
					there.close();
				else
					workers.execute(() -> work(there, path));
			}
			selector.selectedKeys().clear();
		}
	}
}
