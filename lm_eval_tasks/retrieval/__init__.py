"""Retrieved chunks in place of long inputs."""
