// SPDX-License-Identifier: Apache-2.0
// Pool PORT: the HTTP server of the JDK, with 8 threads.
import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

class Pool {
	public static void main(String[] arguments) throws Exception {
		HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", Integer.parseInt(arguments[0])), 64);

		server.createContext("/", exchange -> {
			exchange.getRequestBody().readAllBytes();
			exchange.sendResponseHeaders(200, 6);
			exchange.getResponseBody().write("hello\n".getBytes());
			exchange.close();
		});
		server.setExecutor(Executors.newFixedThreadPool(8));
		server.start();
	}
}
